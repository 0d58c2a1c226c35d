// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Votes: a struct for each voter, an array of proposals, each voter counts once.
contract Ballot {
    struct Voter {
        bool voted;
        uint choice;
    }

    mapping(address => Voter) voters;
    uint[] votes;
    uint cast;

    function propose() public {
        require(cast == 0);
        votes.push(0);
    }

    function vote(uint choice) public {
        Voter storage voter = voters[msg.sender];
        require(!voter.voted && choice < votes.length);
        voter.voted = true;
        voter.choice = choice;
        votes[choice] += 1;
        cast += 1;
        assert(votes[choice] > 0); // expect: safe
        assert(voters[msg.sender].voted); // expect: safe
    }

    function nobody(address who) public view {
        assert(cast > 0 || !voters[who].voted); // expect: safe
    }

    function valid(address who) public view {
        assert(!voters[who].voted || voters[who].choice < votes.length); // expect: safe
    }

    function tied() public view {
        assert(cast < 2); // expect: unsafe
    }
}
